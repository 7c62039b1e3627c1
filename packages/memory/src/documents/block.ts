/** A paragraph of a document, a list item, a table or a heading. */
export interface Block {
  readonly text: string
  /** The level of a heading: 1 is the highest. */
  readonly heading?: number | undefined
}

/** The text of a document in its parts. */
export interface LoadedText {
  readonly blocks: readonly Block[]
  /** The title that the text itself has. */
  readonly title?: string | undefined
}
