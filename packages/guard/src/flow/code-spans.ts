/** A range in a line; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface CodeSpans {
  readonly spans: readonly Span[]
  /** Unpaired backticks may pair with some on a later line. */
  readonly isOpen: boolean
  /** The number of brackets that are open at the end of the line. */
  readonly brackets: number
}

/**
 * Returns the code spans of a line that are code for every parser. They end on the same line, do not cross table cells, and do not
 * begin inside a word that could be an address, which would absorb the backticks. No bracket is open before them, because markdown-it
 * ignores code while it looks for the end of a link. Backticks are paired from the left, as parsers do.
 */
export function codeSpans(line: string, bracketsBefore: number): CodeSpans {
  const spans: Span[] = []
  let brackets = bracketsBefore
  let from = 0
  const runs = [...line.matchAll(/`+/g)]
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i] as RegExpExecArray
    brackets = countBrackets(line.slice(from, run.index), brackets)
    let close = i + 1
    while (close < runs.length && runs[close]?.[0].length !== run[0].length) close++
    const end = runs[close]
    const span = end && { start: run.index, end: end.index + end[0].length }
    if (span === undefined || !isCertain(line, span))
      return { spans, isOpen: true, brackets: countBrackets(line.slice(run.index).replaceAll(']', ''), brackets) }
    if (brackets === 0) spans.push(span)
    from = span.end
    i = close
  }
  return { spans, isOpen: false, brackets: countBrackets(line.slice(from), brackets) }
}

function countBrackets(text: string, before: number): number {
  let open = before
  for (const [mark] of text.matchAll(/\\.|[[\]]/gs)) {
    if (mark.endsWith('[')) open++
    else if (mark === ']' && open > 0) open--
  }
  return open
}

function isCertain(line: string, { start, end }: Span): boolean {
  const from = Math.max(line.lastIndexOf(' ', start - 1), line.lastIndexOf('\t', start - 1)) + 1
  return !/[:.@/\\&<]/.test(line.slice(from, start)) && !line.slice(start, end).includes('|')
}
