import { CST, Lexer } from 'yaml'

/**
 * Where a text of YAML is nested more deeply than so many levels; undefined where it is not. It goes by the tokens, which
 * need no stack: the parser's recursion on a hostile text can end the process.
 */
export function findTooDeep(text: string, levels: number): number | undefined {
  const block = new Block()
  let flow = 0
  for (const { type, offset, token } of tokens(text)) {
    if (type === 'flow-map-start' || type === 'flow-seq-start') flow++
    else if (type === 'flow-map-end' || type === 'flow-seq-end') flow--
    else if (type === 'flow-error-end') flow = 0
    if (flow === 0) block.visitToken(type, offset)
    if (block.depth + flow > levels) return offset
    block.skip(token, offset)
  }
  return undefined
}

type TokenType = ReturnType<typeof CST.tokenType> | 'text'

/** The collections that are open by their indentation. */
class Block {
  readonly #columns: number[] = []
  #lineStart = 0
  /** Up to the first thing in a line that is no indicator, everything opens a level, or closes those further in. */
  #inPrefix = true

  get depth(): number {
    return this.#columns.length
  }

  visitToken(type: TokenType, offset: number): void {
    if (!this.#inPrefix || type === 'space' || type === 'newline') return
    const column = offset - this.#lineStart
    while ((this.#columns.at(-1) ?? -1) >= column) this.#columns.pop()
    this.#columns.push(column)
    this.#inPrefix = type === 'seq-item-ind' || type === 'explicit-key-ind' || type === 'map-value-ind'
  }

  skip(token: string, offset: number): void {
    const end = token.lastIndexOf('\n') + 1
    if (end > 0) {
      this.#lineStart = offset + end
      this.#inPrefix = end === token.length
    }
  }
}

/** The tokens with their places; what only marks something has no length, and a plain text is one token after its mark. */
function* tokens(text: string): Generator<{ type: TokenType; token: string; offset: number }> {
  let offset = 0
  let isText = false
  for (const token of new Lexer().lex(text)) {
    const type: TokenType = isText ? 'text' : CST.tokenType(token)
    isText = type === 'scalar'
    const isMark = isText || type === 'doc-mode' || type === 'flow-error-end'
    if (!isText && type !== 'doc-mode' && type !== 'byte-order-mark') yield { type, token, offset }
    if (!isMark) offset += token.length
  }
}
