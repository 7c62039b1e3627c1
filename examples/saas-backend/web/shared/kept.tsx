/** Marks placeholders in a text, such as `[EMAIL_1]`, as hidden values. The page does not have the original values. */
export function Kept({ text }: { text: string }) {
  return text.split(/(\[[A-Z]+_\d+\])/).map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <abbr key={`${at}`} title="This value is hidden from the model and is not stored with the conversation">
        {piece.slice(1, -1).toLowerCase().replace('_', ' ')}
      </abbr>
    ),
  )
}
