"""Words by which first sentences name the type of a thing: `was an American *politician* from Idaho`."""

from typing import NamedTuple

TYPES = ("person", "organisation", "place", "event", "work", "product", "species", "concept")


class TypeWords(NamedTuple):
    """One language: nouns by type, in the singular, and the words around them. A suffix ends a phrase like a stop."""

    copulas: str
    stops: str
    joints: str  # end a phrase that has its noun
    light: str  # uninformative before "of": one of, a kind of
    suffixes: tuple[str, ...]
    nouns: dict[str, str]
    compounds: dict[str, str]  # two words that together have another type than the second


_ENGLISH = TypeWords(
    copulas="is was are were",
    stops="of in from by who which that for on at to with as where whose when between near within under into through "
    "during since after before against along among around across until upon whom based",
    joints="and or , ; : – — but held won written made built born given known set led run spoken drawn taken shown "
    "fought sung found begun worn grown sold bred",
    light="one type kind form part group variety sort example any number set pair some",
    suffixes=("ed", "ing", "ly"),
    nouns={
        "person": """
            academic accountant activist actor actress administrator admiral adventurer advocate agent alpinist
            ambassador analyst anarchist anatomist anchor animator anthropologist archaeologist archbishop archduke
            archer architect aristocrat artist assassin astronaut astronomer athlete attorney author aviator back
            ballerina banker baritone baron baroness barrister baseman bassist biathlete biker billionaire
            biochemist biographer biologist bishop bobsledder bodybuilder botanist bowler boxer brigadier brothers
            businessman businessperson businesswoman cameraman canoeist canoer captain cardinal cartographer
            cartoonist catcher celebrity cellist chairman chairwoman champion character chef chemist choreographer
            cinematographer citizen clergyman cleric coach colonel columnist comedian commander commentator
            commodore competitor composer composers conductor congressman congresswoman conqueror consort contestant
            contralto cornerback cosmonaut councillor councilor count countess courtier cricketer criminal critic
            cryptographer curator curler cyclist dancer daughter decathlete defenceman defender defenseman deity
            democrat dentist designer developer dictator diplomat director diver dj doctor dramatist driver drummer
            duchess duke economist editor educator egyptologist emperor empress engineer enmascarado entertainer
            entomologist entrepreneur equestrian essayist ethicist evangelist executive explorer farmer father
            fencer fielder fighter filmmaker financier flautist folklorist footballer footballers forward founder
            fullback general geneticist geographer geologist goalkeeper goaltender god goddess golfer governor guard
            guitarist gymnast handballer harpist healer heir hero historian host humanist humorist hunter hurdler
            hurler illustrator immunologist impresario industrialist infielder inventor investor javelinist jockey
            journalist judge judoka jumper jurist justice karateka keyboardist killer king knight lawmaker lawyer
            leader lecturer librarian librettist lieutenant linebacker lineman linguist lord luchador luger lyricist
            magician magistrate major man manager marquess marshal martyr mathematician mayor medalist medallist
            merchant meteorologist midfielder minister missionary model monarch monk mountaineer murderer musician
            musicologist mystic mythographer nationalist naturalist navigator neurologist neuroscientist nobleman
            noblewoman novelist nun nurse nymph officer official opponent orator organist ornithologist outfielder
            painter palaeontologist paleontologist partisan pastor pathologist patriarch peer penciller
            percussionist performer person personality pharaoh pharmacist philanthropist philologist philosopher
            photographer physician physicist physiologist pianist pilot pioneer pirate pitcher placekicker planter
            player playwright poet policeman politician polymath pope potter preacher prelate presenter president
            priest prince princess printer printmaker prisoner producer professor programmer prophet protagonist
            psychiatrist psychoanalyst psychologist publicist publisher punter puppeteer putter quarterback queen
            rabbi racer racewalker rapper rebel receiver referee reformer regent reporter representative researcher
            revolutionary rider rower ruler runner sailor saint samurai saxophonist scholar scientist screenwriter
            sculptor secretary senator sergeant servant serviceman shah sheriff shogun shooter shortstop singer
            sister skater skeletonist skier skipper slave sniper snowboarder socialite sociologist soldier solicitor
            son songwriter soprano speaker spokesman sportscaster sportsman sportsperson sportswoman sprinter spy
            statesman statistician steeplechaser striker strongman student sultan superhero supermodel supervillain
            surfer surgeon swimmer swordsman tackle teacher tenor theologian theorist therapist thrower trader
            trainer translator traveler traveller triathlete trumpeter twins tycoon umpire vaulter vicar villain
            violinist violist virologist virtuoso vocalist volleyballer walker warlord warrior weightlifter wife
            winger witch woman wrestler writer youtuber zoologist""",
        "organisation": """
            academy administration agency airline alliance archdiocese arm army association authority band bank
            battalion body boyband brewery brigade broadcaster brotherhood bureau business cabinet carrier chain
            chamber channel charity choir clan club coalition college command commission committee commonwealth
            company conglomerate congregation consortium cooperative corporation corps council court crew
            denomination diocese directorate division duo dynasty employer ensemble enterprise establishment faction
            federation firm fleet force foundation franchise fraternity government guild gymnasium institute
            institution intelligence label league legislature lodge maker manufacturer militia ministry monopoly ngo
            nonprofit office operator orchestra order organisation organization outfit parliament party police
            provider quartet quintet regiment retailer school secretariat seminary senate service sextet society
            sorority squad squadron startup studio subsidiary supergroup supermarket syndicate team tribunal trio
            troupe trust union university utility vendor watchdog wing""",
        "place": """
            abbey aerodrome airbase airfield airport airstrip amphitheatre apartment aquarium archipelago area arena
            arrondissement asteroid atoll autobahn avenue barangay barony barracks base basilica basin bay beach
            borough boulevard bridge building bungalow burgh camp campus canal canton canyon cape capital castle
            cathedral cave cemetery centre chapel church circuit city coast colony comarca commune community complex
            comuna comune constellation constituency continent coulee country county courthouse crater creek
            crossing dam department dependency desert district dong duchy earldom electorate emirate empire enclave
            estate estuary exclave expressway facility farm farmhouse field fjord forest formation fort
            fortification fortress freeway galaxy gaol garden gate glacier gmina gorge governorate ground gulf hall
            hamlet harbor harbour headland headquarters highway hill home hospital hotel house inlet interchange
            intersection island islet isthmus jail jurisdiction kelurahan kingdom lagoon lake landform landmark
            library lighthouse line locality location mall manor mansion market marsh massif mausoleum memorial
            metropolis microstate mill mine monastery monument moon moor mosque motorway mound mountain mountains
            municipality museum nation nebula neighborhood neighbourhood oasis oblast observatory ocean okrug palace
            parish park parkway pass path peak peninsula pier place plain planet plantation plateau plaza polder
            pond port possession powiat prefecture preserve principality prison province pub pyramid quarry quarter
            racecourse racetrack raion ranch range ravine reactor reef refuge regency region republic reserve
            reservoir residence resort restaurant ridge ringfort river rivers riverside road roadway route runway
            sanctuary sea seaport seat section settlement shipyard shire shrine site skyscraper spa spring square
            stadium star state station strait stratovolcano stream street streets structure subdivision
            subprefecture suburb summit supernova swamp synagogue taluk tehsil temple terminal terminus territory
            theater theatre tomb tower town township tract trail tributary tunnel valley velodrome venue viaduct
            villa village voivodeship volcano ward waterfall waterway wetland wilderness winery woodland zone zoo""",
        "event": """
            accident anniversary assassination attack ballot bankruptcy battle bombing bout campaign celebration
            ceremony championship clash collision competition conclave conference conflict contest convention coup
            crash crisis crusade cup cyclone debate demonstration derby disaster draft earthquake edition election
            epidemic eruption event exhibition expedition explosion expo fair festival fight final fire flight flood
            footrace games genocide heist hijacking holiday hurricane incident insurgency invasion kidnapping
            landing launch massacre match matches meet meeting mission murder mutiny occasion offensive olympics
            operation pageant pandemic parade playoff playoffs primary protest purge quarterfinal race raid rally
            rebellion referendum regatta revolt revolution riot round season semifinal shooting siege spaceflight
            staging storm strike tour tournament tragedy trial typhoon uprising war wedding""",
        "work": """
            adaptation album anime anthem anthology aria article ballad ballet biopic blockbuster blog book booklet
            broadcast broadsheet cantata cartoon chronicle comedy comic comics compilation composition concerto
            daily document documentary drama encyclopaedia encyclopedia ep epic episode epistle essay fable
            fairytale fiction film fresco game gospel hymn installment instalment journal libretto lullaby magazine
            manga manuscript medley melodrama memoir miniseries mixtape mmorpg monograph movie mural musical
            musicals newsletter newspaper newsreel novel novelette novella opera operetta oratorio overture painting
            pamphlet paper parody periodical platformer play podcast poem portrait prequel psalm publication record
            recording reissue remake remix requiem romance rpg screenplay sculpture sequel serial series short show
            simulator single sitcom sketch soap sonata song soundtrack spinoff statue story storybook strip symphony
            tabloid tale telefilm telemovie telenovela textbook thriller treatise trilogy video videogame webcomic
            webseries website webzine weekly western writing yearbook""",
        "product": """
            aeroplane aircraft airliner airplane airship ale ammunition amplifier analgesic antibiotic antipsychotic
            app application artillery automobile battleship beer beverage biplane boat bomb bomber brand brandy
            bread browser bus cake calculator camera cannon car carbine card cartridge cheese chip chipset cigarette
            cloth coaster cocktail coffee coin compiler computer computers console convertible corvette coupe
            cruiser dessert destroyer device devices dinghy dish display dress drink drone drug engine engines
            equipment ferry firearm frigate furniture gadget garment garments glider gun handgun handset headgear
            helicopter howitzer hull hydroplane instrument keyboard laptop launcher lens liner liqueur locomotive
            machine mainframe medication medicine microcomputer microcontroller microprocessor minivan missile
            monoplane mortar motor motorbike motorcycle pasta phone pickup pistol plugin processor product program
            programs prototype radar revolver rifle roadster robot rocket rollercoaster sailplane saloon satellite
            sauce sausage schooner scooter sedan ship shotgun shuttle smartphone snack software soup spacecraft
            spaceplane spirit steamboat steamer steamship submarine supercar supercomputer synthesizer tablet tank
            tanker tool torpedo toy tractor train tram trawler truck tube tugboat uav vaccine van vehicle vessel
            vest warship watch weapon whiskey whisky wine workstation yacht""",
        "species": """
            alga algae amphibian animal ant antelope ape arachnid bacteria bacterium bat bear bee beetle bird breed
            butterfly cactus cat cattle cetacean clade conifer crab crocodile crustacean cultivar deer dinosaur dog
            dolphin duck eagle fern fish flower fox frog fruit fungi fungus gastropod genera genus grass herb
            hominid horse insect invertebrate landrace legume liana lichen lizard lobster mammal mare marsupial
            mollusc mollusk monkey moss moth mushroom orchid organism owl parasite parrot pine plant plants primate
            racehorse rat reptile reptiles rodent salamander shark sheep shrimp shrub snail snake songbird species
            spider squid squirrel stallion subfamily subgenus subspecies succulent superfamily taxa taxon theropod
            thoroughbred toad tree turtle vegetable vertebrate vine virus viruses wasp weed whale wolf worm""",
        "concept": """
            abbreviation ability accent acid acronym act action activity adjective agreement algebra algorithm alloy
            alphabet amendment analysis approach argument art assumption attribute award axiom behavior behaviour
            belief bone branch calendar cancer category cause cell century change chemical cinema citizenship class
            classification code color colour combination communications compound compounds concept condition
            constant contract craft crime cuisine culture currency curve custom cycle dance day decade decoration
            definition degree demographics description dialect diet discipline disease disorder distribution
            doctrine domain economics economy effect element energy enzyme equation era estimate ethnic ethnicity
            expression fallacy fault feature flag format formula fraction framework function gas gemstone gene genre
            geography geometry grammar history hormone hypothesis idea ideology idiom illness index industry
            inequality infection inhabitants interaction interface isotope item job kinship language languages law
            legislation list lists literature logic manner mark material mathematics measure measurement mechanism
            medal metal metaphor method methodology mineral minerals mode molecule month muscle music mutation myth
            mythology name names nationality notation notion noun object occupation organ origin origins outline
            overview paradigm paradox particle pastime pattern people peoples perception period phase phenomenon
            philosophy phrase physics pigment point policy politics polymer position practice prefix principle prize
            problem procedure process profession projection property protein protocol psychology quality quantity
            question rank ratio reaction receptor register relation relations religion result right rite ritual rock
            role rule salt scale scheme science script sect sense sequence shape sign situation skill slang smell
            solution sport standard statement statistic status strategy study style subculture subdiscipline
            subgenre subject substance suffix surname symbol symptom syndrome system systems taste tax technique
            technology telecommunications tendency term terminology terms theorem theory thought time timeline
            tissue title topology trade tradition training trait transformation transport transportation treatment
            treaty tribe usage use value variable variant vector view vowel wave way word words worship year""",
    },
    compounds={
        "organisation": """
            radio_station television_station tv_station musical_group rock_group pop_group vocal_group girl_group
            boy_group folk_group terrorist_group militant_group advocacy_group pressure_group military_unit
            news_agency""",
        "product": "launch_system weapon_system operating_system file_system computer_system missile_system",
        "concept": "ethnic_group card_game board_game ball_game billiards_game drinking_game",
    },
)

LANGUAGES = {"en": _ENGLISH, "simple": _ENGLISH}
