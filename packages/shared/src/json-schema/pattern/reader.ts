import { Unsupported } from './unsupported.ts'

/** Reads the source of a pattern by code points. */
export class Reader {
  readonly #points: readonly string[]
  #at = 0

  constructor(source: string) {
    this.#points = Array.from(source)
  }

  get done(): boolean {
    return this.#at >= this.#points.length
  }

  peek(ahead = 0): string | undefined {
    return this.#points[this.#at + ahead]
  }

  /** Returns the next code point. @throws Unsupported at the end */
  next(): string {
    const point = this.#points[this.#at++]
    if (point === undefined) throw new Unsupported('It ends too early.')
    return point
  }

  /** Consumes a text if it is next. */
  consume(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.peek(i) !== text[i]) return false
    this.#at += text.length
    return true
  }

  /** Consumes the match of a sticky expression in the next few code points. */
  match(expression: RegExp, maxLength: number): RegExpExecArray | undefined {
    const match = expression.exec(this.#points.slice(this.#at, this.#at + maxLength).join(''))
    if (match === null) return undefined
    this.#at += Array.from(match[0]).length
    return match
  }
}
