"""`python -m wikilda`."""

from wikilda.cli import main

if __name__ == "__main__":
    main()
