import { fail } from './problem.ts'

/** How deep a body may nest. */
const deepest = 100

/**
 * The body of a request, which is a JSON object.
 *
 * @throws AlliumError `request.media_type`, `request.too_large`, `request.invalid`
 */
export async function readObject(request: Request, maxBody: number): Promise<Record<string, unknown>> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json *(;|$)/i.test(type))
    throw fail('request.media_type', 'The body is to be JSON, with the content type application/json.')
  const text = await readText(request, maxBody)
  const value = parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw fail('request.invalid', 'The body is a JSON object.')
}

/** @throws AlliumError `request.invalid` for a field that the route does not know */
export function knowsOnly(body: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  for (const name of Object.keys(body))
    if (!known.includes(name))
      throw fail(
        'request.invalid',
        `The body has the field ${JSON.stringify(name.slice(0, 60))}. It takes: ${known.join(', ')}.`,
      )
}

async function readText(request: Request, maxBody: number): Promise<string> {
  const tooLarge = () => fail('request.too_large', `A body has at most ${maxBody} bytes.`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBody) throw tooLarge()
  if (request.body === null) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [text, bytes] = ['', 0]
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > maxBody) throw tooLarge()
      text += decoder.decode(chunk, { stream: true })
    }
    return text + decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw fail('request.invalid', 'The body is no UTF-8, or was cut.')
    throw error
  }
}

function parse(text: string): unknown {
  if (isDeep(text)) throw fail('request.invalid', `The body nests more than ${deepest} deep.`)
  try {
    return JSON.parse(text)
  } catch {
    throw fail('request.invalid', 'The body is no JSON.')
  }
}

/** By its brackets outside of strings, before anything is built from it. */
function isDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\' && quoted) at++
    else if (character === '"') quoted = !quoted
    else if (quoted) continue
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    if (depth > deepest) return true
  }
  return false
}
