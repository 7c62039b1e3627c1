/** A text in which placeholders, such as `[EMAIL_1]`, are marked as hidden values: the page has no value to show for them. */
export function Kept({ text }: { text: string }) {
  return text.split(/(\[[A-Z]+_\d+\])/).map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <abbr key={`${at}`} title="Hidden from the model, and not stored with the conversation">
        {piece.slice(1, -1).toLowerCase().replace('_', ' ')}
      </abbr>
    ),
  )
}
