import type { CassetteRequest } from './cassette-data.ts'
import { type CleanText, cleanSettings } from './scrub.ts'
import { mapTexts, toJson } from './tagged-json.ts'

/** What of a request is recorded, as JSON data; secrets still in it. */
export function requestData({ messages, tools, toolChoice, settings, responseFormat }: CassetteRequest) {
  return toJson({ messages, tools, toolChoice, settings, responseFormat }) as CassetteRequest
}

/** The data without secrets. */
export function cleanRequest(data: CassetteRequest, clean: CleanText): CassetteRequest {
  return { ...mapTexts(data, clean), settings: cleanSettings(data.settings, clean) }
}
