import type { AnswerDetails } from '../model/response.ts'
import type { Answer } from '../rings/turn/answer.ts'

/** Copies the details of the last response to the result, and every distinct warning. */
export function addDetails(result: AnswerDetails, { response, warnings }: Answer): void {
  if (warnings.length > 0) result.warnings = warnings
  if (response === undefined) return
  const { finishReason, rawFinishReason, responseId, providerMetadata } = response
  result.finishReason = finishReason
  if (rawFinishReason !== undefined) result.rawFinishReason = rawFinishReason
  if (responseId !== undefined) result.responseId = responseId
  if (providerMetadata !== undefined) result.providerMetadata = providerMetadata
}
