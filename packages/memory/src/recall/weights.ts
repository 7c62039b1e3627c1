/** The constants of the order, measured on long conversations. Others would change what every agent recalls, so they are no options. */
export const weights = {
  /** How much a word counts for the messages 1, 2, 3 and 4 places after it. */
  before: [0.6, 0.4, 0.25, 0.15],
  /** How much a word counts for the messages 1, 2, 3 and 4 places before it. */
  after: [0.5, 0.3, 0.2, 0.1],
  /** How much the message alone counts, in addition to its window. */
  alone: 0.2,
  /** How fast repetitions of a word lose weight: k1 of BM25. Lengths do not count, so b is 0. */
  k1: 0.9,
} as const
