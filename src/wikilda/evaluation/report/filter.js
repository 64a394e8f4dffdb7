// Hides the errors of kinds that are not ticked or do not contain what is looked for, then documents without any.
for (const form of document.querySelectorAll(".filters")) {
  const documents = [...form.parentElement.querySelectorAll(".document")];
  const show = () => {
    const kinds = new Set([...form.querySelectorAll("[data-kind]:checked")].map((box) => box.dataset.kind));
    const wanted = form.querySelector("[type=search]").value.trim().toLowerCase();
    let errors = 0, shown = 0;
    for (const section of documents) {
      const named = section.querySelector("h3").textContent.toLowerCase().includes(wanted);
      let here = 0;
      for (const card of section.querySelectorAll(".card")) {
        card.hidden = !kinds.has(card.dataset.kind) || !(named || card.textContent.toLowerCase().includes(wanted));
        if (!card.hidden) here += Number(card.dataset.count);
        for (const link of section.querySelectorAll(`a[href="#${card.id}"]`)) link.classList.toggle("dim", card.hidden);
      }
      section.hidden = here === 0;
      errors += here;
      shown += !section.hidden;
    }
    form.querySelector("output").textContent = `${errors} errors in ${shown} documents`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}
