interface Fence {
  readonly mark: string
  readonly length: number
  /** Spaces before the fence. Content that is indented less may be outside the list item that contains the fence. */
  readonly indent: number
}

/** No bar: markdown-it may read a line with a bar as a table header. */
const opening = /^( {0,3})(`{3,}|~{3,})[^`~|]*$/
const fenceLike = /^[^\p{L}]*?(?:`{3}|~{3})/u

/** Tracks which lines are fenced code for every parser. After a line that parsers may read differently, nothing counts as code. */
export class Fences {
  #fence: Fence | undefined
  #isCertain: boolean

  constructor(isCertain: boolean) {
    this.#isCertain = isCertain
  }

  get isOpen(): boolean {
    return this.#fence !== undefined
  }

  /** Whether a line that has not ended yet is code. */
  isCode(line: string): boolean {
    if (this.#fence === undefined) return false
    if (indentOf(line) >= this.#fence.indent || line.trim() === '') return true
    this.distrust()
    return false
  }

  /** Records that a line, or its first part, was sent. */
  endLine(line: string, isWhole: boolean): void {
    if (!this.#isCertain) return
    const mayBeMarks = this.#fence === undefined ? !/\p{L}/u.test(line) : /^[`~\s]*$/.test(line)
    if (!isWhole && mayBeMarks) this.distrust()
    else if (this.#fence === undefined) this.#open(line)
    else this.#close(line, this.#fence)
  }

  /** From here on nothing counts as code. */
  distrust(): void {
    this.#isCertain = false
    this.#fence = undefined
  }

  #open(line: string): void {
    const [, spaces = '', marks] = opening.exec(line) ?? []
    if (marks !== undefined) this.#fence = { mark: marks.charAt(0), length: marks.length, indent: spaces.length }
    else if (fenceLike.test(line)) this.distrust()
  }

  #close(line: string, { mark, length, indent }: Fence): void {
    const marks = line.trim()
    if (!marks.startsWith(mark.repeat(length)) || !/^[`~\s]*$/.test(marks)) return
    const indentation = line.indexOf(mark)
    const isPlain =
      /^ *$/.test(line.slice(0, indentation)) && marks === mark.repeat(marks.length) && /[`~] *$/.test(line)
    if (isPlain && indentation <= 3 && indentation >= indent) this.#fence = undefined
    else if (!isPlain || indent > 0) this.distrust()
  }
}

function indentOf(line: string): number {
  let columns = 0
  for (const char of line) {
    if (char === '\t') columns += 4 - (columns % 4)
    else if (char === ' ') columns++
    else break
  }
  return columns
}
