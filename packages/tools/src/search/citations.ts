import type { ContentChunk, Message, SourceChunk } from '@allium/core'
import { isRecord, resultText } from '@allium/core/internal'
import { isWebUrl } from './checked-hit.ts'

type Messages = Iterable<Readonly<Message>>

/**
 * Returns the sources of the newest results of the tool, one for each document and section. It reads them from the results as the history
 * has them, so a result that a guard has replaced has none, and a resumed run has those of before.
 */
export function citationsOf(history: Messages, tool: string): SourceChunk[] {
  const sources = new Map<string, SourceChunk>()
  for (const { callId, text } of newestResults(history, tool))
    for (const [i, line] of text.split('\n').entries()) {
      const source = sourceOf(parse(line), `${callId}-${i + 1}`)
      if (source !== undefined) sources.set(JSON.stringify([source.url, source.title]), source)
    }
  return [...sources.values()]
}

/** Sends sources after the first chunk of an answer: until then a failed call can be repeated without a trace. */
export async function* withCitations(
  chunks: AsyncIterable<ContentChunk>,
  sources: readonly SourceChunk[],
): AsyncIterable<ContentChunk> {
  let isSent = false
  for await (const chunk of chunks) {
    if (!isSent && chunk.type === 'text-delta') {
      isSent = true
      yield* sources
    }
    yield chunk
  }
}

/** The results since the last message of the model. */
function newestResults(history: Messages, tool: string): { callId: string; text: string }[] {
  const messages = [...history]
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  return messages
    .slice(last + 1)
    .flatMap(({ content }) =>
      typeof content === 'string'
        ? []
        : content.flatMap((part) =>
            part.type === 'tool-result' && part.name === tool && part.isError !== true
              ? [{ callId: part.callId, text: resultText(part.content) }]
              : [],
          ),
    )
}

function sourceOf(line: unknown, id: string): SourceChunk | undefined {
  if (!isRecord(line)) return undefined
  const { title, section, url, from } = line
  const label = [title, section].filter((one): one is string => typeof one === 'string')
  // The highest heading is often the title.
  const shown = label.length === 2 && label[1]?.startsWith(label[0] ?? '') === true ? label.slice(1) : label
  const named = shown.length > 0 ? shown.join(' > ') : typeof from === 'string' ? from : undefined
  if (named === undefined) return undefined
  const address = isWebUrl(url) ? { url } : { mediaType: 'text/plain' }
  return { type: 'source', id, title: named, ...address }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
