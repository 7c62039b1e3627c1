/** Original values by placeholder. A page has those of calls that it showed before their approval. */
export type Originals = ReadonlyMap<string, string>

/** Shows a text in which placeholders, such as `[EMAIL_1]`, are replaced by their values, or marked as hidden. */
export function Kept({ text, originals }: { text: string; originals?: Originals | undefined }) {
  return text.split(/(\[[A-Z]+_\d+\])/).map((piece, at) =>
    at % 2 === 0 || originals?.has(piece) ? (
      (originals?.get(piece) ?? piece)
    ) : (
      <abbr key={`${at}`} title="The model did not receive this value, and it is not stored with the call">
        hidden {piece.slice(1, piece.lastIndexOf('_')).toLowerCase()}
      </abbr>
    ),
  )
}

/** Returns a text without placeholders, for Markdown. */
export function withoutPlaceholders(text: string): string {
  return text.replace(/\[([A-Z]+)_\d+\]/g, (_, kind: string) => `(hidden ${kind.toLowerCase()})`)
}
