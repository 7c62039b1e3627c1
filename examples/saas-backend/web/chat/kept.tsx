/** A text in which what was kept from the model, such as `[EMAIL_1]`, is marked as that: the value itself is not stored with it. */
export function Kept({ text }: { text: string }) {
  return text.split(/(\[[A-Z]+_\d+\])/).map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <abbr key={piece} title="Kept from the model and from what is stored">
        {piece.slice(1, -1).toLowerCase().replace('_', ' ')}
      </abbr>
    ),
  )
}
