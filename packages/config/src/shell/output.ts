import { StringDecoder } from 'node:string_decoder'

const maxOutput = 8 * 1024 * 1024
const maxLine = 4_000
const maxTail = 2_000

/** What a program wrote to stdout, up to 8 MiB. */
export class Output {
  #chunks: Buffer[] = []
  #bytes = 0

  /** Tells whether there is room for it. */
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

/** What a program wrote to stderr: told line by line, of which the end is kept. Memory is bounded, however long a line is. */
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
