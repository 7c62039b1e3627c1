import type { ContentChunk, ModelContext, Pipe } from '@allium/core'
import type { ToolInput } from '../text/tool-input.ts'
import { AnswerArguments, JsonText } from './json-answer.ts'
import { type HostFilter, isAllowedUrl, removeLinks } from './links.ts'
import { type Delta, type DisplayedText, TextStream } from './text-stream.ts'

/** The form of an answer: in the arguments of a tool, as JSON, or as text that follows the turn's earlier text. */
export interface AnswerFormat {
  readonly answerTool: string | undefined
  readonly isJson: boolean
  readonly displayed?: DisplayedText | undefined
}

export function answerFormat({ plan, request }: ModelContext, displayed: DisplayedText | undefined): AnswerFormat {
  return { answerTool: plan.answerTool, isJson: request.responseFormat.type === 'json', displayed }
}

/**
 * Removes links and images from a model's stream. Text and reasoning are sent line by line. Tool arguments pass unchanged, except
 * those of the answer tool.
 *
 * @param onChange called with each kind of text from which something was removed
 */
export function linkFilter(
  isAllowedHost: HostFilter,
  { answerTool, isJson, displayed }: AnswerFormat,
  onChange: (kind: string) => void,
): Pipe {
  return async function* (chunks) {
    const text = new TextStream(isAllowedHost, displayed, onChange)
    const json = new JsonText(isAllowedHost, onChange)
    const answers = new AnswerArguments(isAllowedHost, answerTool)
    for await (const chunk of chunks) {
      if (isJson && chunk.type === 'text-delta') json.push(chunk)
      else if (isDelta(chunk)) yield* text.push(chunk)
      else {
        yield* text.end()
        if (isInput(chunk)) yield* answers.push(chunk)
        else yield* removeAddresses(chunk, isAllowedHost)
      }
    }
    yield* text.end()
    yield* json.end()
    yield* answers.end()
  }
}

/** Removes files given by URL and sources that lead elsewhere, as links do. */
function* removeAddresses(chunk: ContentChunk, isAllowedHost: HostFilter): Generator<ContentChunk> {
  if (chunk.type === 'source') {
    const { url, title, cites, ...rest } = chunk
    const citedText = cites?.citedText
    yield {
      ...rest,
      ...(url !== undefined && isAllowedUrl(url, isAllowedHost) && { url }),
      ...(title !== undefined && { title: removeLinks(title, isAllowedHost) }),
      ...(cites && {
        cites: citedText === undefined ? cites : { ...cites, citedText: removeLinks(citedText, isAllowedHost) },
      }),
    }
    return
  }
  if (chunk.type !== 'file' || !isAddress(chunk.data) || isAllowedUrl(String(chunk.data), isAllowedHost)) yield chunk
}

/** Base64 may also begin with two slashes, but contains no dot. */
function isAddress(data: Uint8Array | URL | string): boolean {
  return data instanceof URL || (typeof data === 'string' && /^\s*(?:[a-z][a-z0-9+.-]*:|[\\/]{2}[^\s/]*\.)/i.test(data))
}

function isDelta(chunk: ContentChunk): chunk is Delta {
  return chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'
}
function isInput(chunk: ContentChunk): chunk is ToolInput {
  return chunk.type.startsWith('tool-input-')
}
