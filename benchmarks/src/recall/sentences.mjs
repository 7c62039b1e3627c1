/** The persons that the conversations are about. */
export const names =
  'Alma Bruno Carla Dario Elif Farid Greta Henk Ines Jonas Kira Luca Mina Nils Olga Pavel Rosa Samir Tessa Umar Vera Wanda Xenia Yusuf Zora Anton Bella Cyrus Dora Emil Fiona Goran Hanna Ivo Jana Karim Lena Marek Nora Otto'.split(
    ' ',
  )

export const places =
  'Bergen Porto Ghent Malmo Turin Krakow Lyon Graz Basel Leeds Cork Seville Aarhus Tartu Vaasa Zadar Split Bari Nantes Ulm Trier Delft Brno Kaunas Varna Patras Sofia Utrecht Bilbao Galway'.split(
    ' ',
  )

/** What is said about a person, in one message or in two that follow one another, and how one asks for it later. */
export const topics = [
  {
    says: [['{person} is moving to {place} in spring.'], ['I called {person} today.', 'They are moving to {place}!']],
    asks: ['Which town did {person} want to move to?', 'Where does {person} move?'],
  },
  {
    says: [['{person} adopted a puppy in {place}.'], ['News of {person}.', 'A puppy, adopted in {place}.']],
    asks: ['From where is the puppy that {person} adopted?', 'Did {person} adopt puppies?'],
  },
  {
    says: [['{person} works as a nurse at the hospital of {place}.'], ['Lunch with {person}.', 'Nursing in {place}.']],
    asks: ['At which hospital is {person} nursing?', 'What is the job of {person}, a nurse?'],
  },
  {
    says: [
      ['{person} is allergic to walnuts, they found out in {place}.'],
      ['{person} is ill.', 'An allergy to nuts.'],
    ],
    asks: ['What allergies does {person} have?', 'Is {person} allergic to something?'],
  },
  {
    says: [['{person} will marry in {place} next June.'], ['{person} wrote to me.', 'The wedding is in {place}.']],
    asks: ['Where is the wedding of {person}, or when do they marry?', 'In which town will {person} marry?'],
  },
  {
    says: [
      ['{person} plays the cello in an orchestra in {place}.'],
      ['I heard {person}.', 'What a cello, in {place}!'],
    ],
    asks: ['Which orchestra is {person} playing cello with?', 'Does {person} play the cello?'],
  },
  {
    says: [['{person} broke an ankle while skiing near {place}.'], ['Poor {person}.', 'A broken ankle, after skiing.']],
    asks: ['How did {person} break the ankle?', 'Who skied with {person} when the ankle broke?'],
  },
  {
    says: [['{person} opened a bakery in {place}.'], ['I visited {person}.', 'The bakery in {place} is open.']],
    asks: ['In which town is the bakery of {person}?', 'Which bakeries did {person} open?'],
  },
  {
    says: [['{person} is writing a thesis about glaciers in {place}.'], ['I met {person}.', 'A thesis on a glacier.']],
    asks: ['What is the thesis of {person} about, a glacier?', 'Which glaciers is {person} writing about?'],
  },
  {
    says: [['{person} bought a sailing boat in {place}.'], ['{person} is happy.', 'The boat sails in {place}.']],
    asks: ['Where is the boat that {person} sails?', 'Which boats did {person} buy for sailing?'],
  },
]

/** Messages without a fact. They have the persons, towns and many of the words of the facts. */
export const smallTalk = [
  'How is {person} doing?',
  '{person} sends regards from {place}.',
  'We talked about {place} for an hour.',
  'Can you draft a short letter to {person}?',
  'The train to {place} was late again.',
  'A friend of {person} wants to move next year.',
  'My neighbour has a puppy, too.',
  'The hospital in {place} has a new building.',
  'I should eat more nuts.',
  'What does one give at a wedding?',
  'Is the cello harder than the violin?',
  'Skiing is not for me.',
  'Which bakery do you like?',
  'There was a film about a glacier.',
  'A boat costs too much.',
  '{person} and I are writing to the town hall of {place}.',
  'Remind me to call {person} about the weekend.',
  'It rains in {place}.',
  'Let us plan the trip to {place}.',
  'I bought new shoes in {place}.',
]

export const answers = ['Thanks for telling me.', 'Noted.', 'Good to know.', 'I see.', 'That sounds nice.']
