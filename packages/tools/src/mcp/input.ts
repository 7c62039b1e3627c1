import type { InputNeeded, InputRequest } from './question.ts'
import type { Sdk } from './sdk.ts'

/** Checks what a server asks for, which the SDK passes on unread. @throws SdkError for what is no request */
export function readInput(given: Record<string, unknown>, sdk: Sdk): InputNeeded {
  const { inputRequests, requestState, taskId } = given
  const requests = Object.entries(inputRequests ?? {}).map(([key, one]) => [key, readRequest(one, sdk)] as const)
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(requests),
    ...(typeof requestState === 'string' && { requestState }),
    ...(typeof taskId === 'string' && { taskId }),
  }
}

function readRequest(request: unknown, { isSpecType, SdkError, SdkErrorCode }: Sdk): InputRequest {
  const { method, params } = (request ?? {}) as { method?: unknown; params?: unknown }
  if (method === 'elicitation/create')
    return { method, form: isSpecType.ElicitRequestFormParams(params) ? params : undefined }
  if (method === 'sampling/createMessage' && isSpecType.CreateMessageRequestParams(params)) return { method, params }
  const what =
    typeof method === 'string' ? `an invalid or unknown ${JSON.stringify(method.slice(0, 100))}` : 'no request'
  throw new SdkError(SdkErrorCode.InvalidResult, `The server needs ${what} as input.`)
}
