import { CST, Lexer } from 'yaml'

/**
 * Returns where a YAML text is nested deeper than `levels`; undefined if it is not. It reads tokens, which need no stack: the
 * parser's recursion on a hostile text could crash the process.
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

/** The collections that are open by indentation. */
class Block {
  readonly #columns: number[] = []
  #lineStart = 0
  /** Whether the line has had only indicators so far. In this prefix, each column opens a level or closes deeper ones. */
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

/** Yields tokens with their offsets. Pure markers have no length; plain text is one token after its marker. */
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
