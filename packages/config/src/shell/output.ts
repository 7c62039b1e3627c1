import { StringDecoder } from 'node:string_decoder'

const maxOutput = 8 * 1024 * 1024
const maxLine = 4_000
const maxTail = 2_000

/** A program's stdout, up to 8 MiB. */
export class Output {
  #chunks: Buffer[] = []
  #bytes = 0

  /** Returns whether there is room for the chunk. */
  append(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    if (this.#bytes > maxOutput) {
      this.#chunks = []
      return false
    }
    this.#chunks.push(chunk)
    return true
  }
  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

/** A program's stderr: reported line by line, with the end kept. Memory is bounded, even for a long line. */
export class Tail {
  text = ''
  #line = ''
  readonly #decoder = new StringDecoder('utf8')
  readonly #onLine: (line: string) => void

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  append(chunk: Buffer): void {
    const text = this.#decoder.write(chunk)
    this.text = (this.text + text).slice(-maxTail)
    const lines = text.split('\n')
    lines[0] = this.#line + lines[0]
    this.#line = (lines.pop() ?? '').slice(0, maxLine)
    for (const line of lines) this.#onLine(line.slice(0, maxLine))
  }
  end(): void {
    if (this.#line !== '') this.#onLine(this.#line)
    this.#line = ''
  }
}
