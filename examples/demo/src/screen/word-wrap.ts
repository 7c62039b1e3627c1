/** Wraps a stream of text, word by word, between the columns `indent` and `width`. */
export function wordWrap(write: (text: string) => unknown, { indent, width }: { indent: number; width: number }) {
  let column = indent
  let word = ''

  function flush(): void {
    const atStart = column === indent
    if (!atStart && column + 1 + word.length > width) newLine()
    else if (!atStart && word !== '') put(' ')
    put(word)
    word = ''
  }
  function newLine(): void {
    write(`\n${' '.repeat(indent)}`)
    column = indent
  }
  function put(text: string): void {
    write(text)
    column += text.length
  }

  return {
    push(text: string): void {
      for (const piece of text.split(/(\s+)/)) {
        if (/\S/.test(piece)) word += piece
        else if (piece !== '' && word !== '') flush()
        if (piece.includes('\n')) newLine()
      }
    },
    end(): void {
      if (word !== '') flush()
      write('\n')
    },
  }
}
