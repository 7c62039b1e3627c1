import { isAlliumError } from '@allium/core'
import { requestError } from '../http/problem.ts'

/** Most levels of nesting, and most values, in a body. */
const maxDepth = 100
const maxValues = 200_000

/** Largest body in bytes for routes that accept images. */
export const imageBody = 8 * 1_048_576

/**
 * Reads the JSON body of a request; undefined for an empty one.
 *
 * @throws AlliumError `request.media_type`, `request.too_large`, `request.invalid`
 */
export async function readJson(request: Request, maxBodyBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type')
  // A body without a type may still be empty.
  if (type !== null) checkType(type)
  const text = await readText(request, maxBodyBytes)
  if (text === '') return undefined
  checkType(type ?? '')
  return parse(text)
}

function checkType(type: string): void {
  const isJson = /^application\/json\s*(?:;[^,]{0,200})?$/i.test(type)
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type.slice(0, 300)) ?? []
  if (isJson && charset.toLowerCase() === 'utf-8') return
  throw requestError(
    'request.media_type',
    'The body must be JSON in UTF-8. Send it with the header `content-type: application/json`.',
  )
}

async function readText(request: Request, maxBodyBytes: number): Promise<string> {
  const tooLarge = () =>
    requestError('request.too_large', `The body is larger than the limit of ${maxBodyBytes} bytes.`)
  const length = request.headers.get('content-length')
  if (Number(length ?? 0) > maxBodyBytes) throw tooLarge()
  try {
    return length === null
      ? await readChunks(request, maxBodyBytes, tooLarge)
      : await readWhole(request, maxBodyBytes, tooLarge)
  } catch (error) {
    if (isAlliumError(error)) throw error
    // This also happens when the client disconnects, which is not a failure of the server.
    throw requestError('request.invalid', 'The body is not valid UTF-8, or it was truncated.')
  }
}

/** Reads a body whose length HTTP enforces. The Node.js adapter then creates neither a web stream nor a second request. */
async function readWhole(request: Request, maxBodyBytes: number, tooLarge: () => Error): Promise<string> {
  const bytes = await request.arrayBuffer()
  // A body parser in front of the server may have changed the length.
  if (bytes.byteLength > maxBodyBytes) throw tooLarge()
  return wholeDecoder.decode(bytes)
}

const wholeDecoder = new TextDecoder('utf-8', { fatal: true })

async function readChunks(request: Request, maxBodyBytes: number, tooLarge: () => Error): Promise<string> {
  if (request.body === null) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [text, bytes] = ['', 0]
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBodyBytes) throw tooLarge()
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/**
 * Parses JSON from a client. Checks its depth and its number of values before building anything from it.
 *
 * @param makeError returns the error for JSON that exceeds a limit
 * @returns undefined for text that is not JSON
 */
export function parseJson(text: string, makeError: (reason: string) => Error): unknown {
  const reason = exceededLimit(text)
  if (reason !== undefined) throw makeError(reason)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function parse(text: string): unknown {
  const value = parseJson(text, (reason) => requestError('request.invalid', `The body ${reason}`))
  if (value !== undefined) return value
  throw requestError('request.invalid', 'The body is not valid JSON.')
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBrackets, closeBrackets] = [new Set([0x5b, 0x7b]), new Set([0x5d, 0x7d])]

/** Returns which limit a text exceeds. Counts the brackets and commas outside strings. */
function exceededLimit(text: string): string | undefined {
  let [depth, values] = [0, 1]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = endOfString(text, index)
    else if (code === comma) values++
    else if (openBrackets.has(code)) [depth, values] = [depth + 1, values + 1]
    else if (closeBrackets.has(code)) depth--
    if (depth > maxDepth) return `is nested more than ${maxDepth} levels deep.`
    if (values > maxValues) return `has more than ${maxValues} values.`
  }
  return undefined
}

/** Returns the index of the quote that ends a string: the first one after an even number of backslashes. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
