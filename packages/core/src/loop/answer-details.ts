import { equalJson } from '../messages/json.ts'
import type { ModelWarning } from '../model/chunk.ts'
import type { AnswerDetails } from '../model/response.ts'
import type { Answer } from '../rings/turn/answer.ts'

/** Adds a warning of a model call, unless the answer has it. */
export function addWarning(answer: Answer, warning: ModelWarning): void {
  answer.warnings ??= []
  if (!answer.warnings.some((known) => equalJson(known, warning))) answer.warnings.push(warning)
}

/** Copies the details of the last response to the result, and every distinct warning. */
export function addDetails(result: AnswerDetails, { response, warnings }: Answer): void {
  if (warnings !== undefined) result.warnings = warnings
  if (response === undefined) return
  const { finishReason, rawFinishReason, responseId, providerMetadata } = response
  result.finishReason = finishReason
  if (rawFinishReason !== undefined) result.rawFinishReason = rawFinishReason
  if (responseId !== undefined) result.responseId = responseId
  if (providerMetadata !== undefined) result.providerMetadata = providerMetadata
}
