/** Cuts a text into the pieces that a stream has. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return text.length < 2 ? [text] : [text.slice(0, middle), text.slice(middle)]
}
