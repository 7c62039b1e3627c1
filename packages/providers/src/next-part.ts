import type { PartReader } from './ai-sdk-model.ts'
import { truncatedStream } from './failure.ts'

/** Reads the next part. Cohere's package throws for arguments that were cut, while a malformed event is an `error` part. */
export async function nextPart(reader: PartReader): ReturnType<PartReader['read']> {
  try {
    return await reader.read()
  } catch (error) {
    const { name, text } = error as { name?: unknown; text?: unknown }
    throw name === 'AI_JSONParseError' && isCutJson(String(text)) ? truncatedStream(error) : error
  }
}

/** Whether more brackets are opened than closed, which is true for each beginning of an object. */
function isCutJson(text: string): boolean {
  const outsideStrings = text.replace(/"(\\.|[^"\\])*"?/g, '')
  return outsideStrings.split(/[{[]/).length > outsideStrings.split(/[}\]]/).length
}
