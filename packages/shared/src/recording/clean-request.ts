import type { ModelRequest } from '@allium/core'
import { type CleanText, cleanSettings } from './scrub.ts'
import { mapTexts, toJson } from './tagged-json.ts'

/** The part of a request that is recorded and matched: not its signal or principal. */
export type RequestData = Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice' | 'settings' | 'responseFormat'>

/** Returns the recorded part of a request as JSON data, still with secrets. */
export function requestData({ messages, tools, toolChoice, settings, responseFormat }: RequestData) {
  return toJson({ messages, tools, toolChoice, settings, responseFormat }) as RequestData
}

/** Returns the data without secrets. */
export function cleanRequest(data: RequestData, clean: CleanText): RequestData {
  return { ...mapTexts(data, clean), settings: cleanSettings(data.settings, clean) }
}
