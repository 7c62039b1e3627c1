import type { CassetteRequest } from './cassette-data.ts'
import { type CleanText, cleanSettings } from './scrub.ts'
import { mapTexts, toJson } from './tagged-json.ts'

/** Returns the recorded part of a request as JSON data, still with secrets. */
export function requestData({ messages, tools, toolChoice, settings, responseFormat }: CassetteRequest) {
  return toJson({ messages, tools, toolChoice, settings, responseFormat }) as CassetteRequest
}

/** Returns the data without secrets. */
export function cleanRequest(data: CassetteRequest, clean: CleanText): CassetteRequest {
  return { ...mapTexts(data, clean), settings: cleanSettings(data.settings, clean) }
}
