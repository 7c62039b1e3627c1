import type { ContentChunk, Pipe } from '@allium/core'
import { AnswerArguments, JsonText } from './json-answer.ts'
import { isAllowedUrl, type MayLink, withoutLinks } from './links.ts'
import { type Delta, type ShownText, TextStream } from './text-stream.ts'

/** How the answer is given: in the arguments of a tool, as JSON, or as text behind what the turn has shown before. */
export interface Form {
  readonly answerTool: string | undefined
  readonly isJson: boolean
  readonly before?: ShownText | undefined
}

/**
 * Takes links and images out of a model's stream: text and thoughts leave line by line. Arguments of calls pass as they are, but for
 * those of the tool that the model answers with.
 *
 * @param changed called with each kind of text in which something was taken out
 */
export function unlinked(may: MayLink, { answerTool, isJson, before }: Form, changed: (kind: string) => void): Pipe {
  return async function* (chunks) {
    const text = new TextStream(may, before, changed)
    const json = new JsonText(may, changed)
    const answers = new AnswerArguments(may, answerTool)
    for await (const chunk of chunks) {
      if (isJson && chunk.type === 'text-delta') json.take(chunk)
      else if (isDelta(chunk)) yield* text.take(chunk)
      else {
        yield* text.end()
        if (isInput(chunk)) yield* answers.take(chunk)
        else yield* withoutAddress(chunk, may)
      }
    }
    yield* text.end()
    yield* json.end()
    yield* answers.end()
  }
}

/** Files by address, and sources, lead elsewhere as links do. */
function* withoutAddress(chunk: ContentChunk, may: MayLink): Generator<ContentChunk> {
  if (chunk.type === 'source') {
    const { url, title, cites, ...rest } = chunk
    const citedText = cites?.citedText
    yield {
      ...rest,
      ...(url !== undefined && isAllowedUrl(url, may) && { url }),
      ...(title !== undefined && { title: withoutLinks(title, may) }),
      ...(cites && { cites: citedText === undefined ? cites : { ...cites, citedText: withoutLinks(citedText, may) } }),
    }
    return
  }
  if (chunk.type !== 'file' || !isAddress(chunk.data) || isAllowedUrl(String(chunk.data), may)) yield chunk
}

/** Base64 may begin with two slashes too, but has no dot. */
function isAddress(data: Uint8Array | URL | string): boolean {
  return data instanceof URL || (typeof data === 'string' && /^\s*(?:[a-z][a-z0-9+.-]*:|[\\/]{2}[^\s/]*\.)/i.test(data))
}

function isDelta(chunk: ContentChunk): chunk is Delta {
  return chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'
}
function isInput(chunk: ContentChunk): chunk is Extract<ContentChunk, { type: `tool-input-${string}` }> {
  return chunk.type.startsWith('tool-input-')
}
