import { anything, type JsonSchema, mapped, nullable, type Schema } from '../request/schema.ts'
import { rejection } from '../request/value-location.ts'

/**
 * Parameters of OpenAI's API that would change what the client receives, and that an agent does not support. They are rejected with 400
 * unless their value has no effect. Parameters that tune a model (temperature, seed, token limits) are ignored, because the agent
 * sets them: docs/guide/server/openai.md has the table.
 */
const unsupportedEverywhere = {
  parallel_tool_calls: unsupported('asks for one call at a time, but the agent decides how many calls a step has.', {
    isNoOp: (value) => value === true,
    json: { const: true },
  }),
  top_logprobs: unsupported('asks for log probabilities, but the answers of an agent have none.', {
    isNoOp: (value) => value === 0,
    json: { const: 0 },
  }),
}

export const unsupportedInChat = {
  ...unsupportedEverywhere,
  n: unsupported('asks for more than one answer, but a run has one. Send the request again for another one.', {
    isNoOp: (value) => value === 1,
    json: { const: 1 },
  }),
  logprobs: unsupported('asks for log probabilities, but the answers of an agent have none.', {
    isNoOp: (value) => value === false,
    json: { const: false },
  }),
  logit_bias: unsupported(
    'changes the tokens of a model, but the agent chooses the model and may change it within an answer.',
    {
      isNoOp: isEmpty,
      json: { type: 'object', maxProperties: 0 },
    },
  ),
  stop: unsupported('asks to end the text at a string, but the text of an agent comes from several steps.', {
    isNoOp: isEmpty,
    json: { type: 'array', maxItems: 0 },
  }),
  modalities: unsupported('asks for an answer that is not text.', {
    isNoOp: (value) => Array.isArray(value) && value.every((modality) => modality === 'text'),
    json: { type: 'array', items: { const: 'text' } },
  }),
  audio: unsupported('asks for an answer that is not text.'),
  web_search_options: unsupported('asks for a tool of OpenAI, but the agent has its own tools.'),
  functions: unsupported('is the deprecated form of `tools`. Use that.', {
    isNoOp: isEmpty,
    json: { type: 'array', maxItems: 0 },
  }),
  function_call: unsupported('is the deprecated form of `tool_choice`.', {
    isNoOp: (value) => value === 'auto' || value === 'none',
    json: { enum: ['auto', 'none'] },
  }),
}

export const unsupportedInResponses = {
  ...unsupportedEverywhere,
  background: unsupported('asks for a background response. Use the stream, or the routes of the session.', {
    isNoOp: (value) => value === false,
    json: { const: false },
  }),
  conversation: unsupported('names a conversation, but the server stores none. Continue with `previous_response_id`.'),
  prompt: unsupported('names a prompt that OpenAI stores, but the agent has its own instructions.'),
  include: unsupported('asks for log probabilities, but the answers of an agent have none.', {
    isNoOp: (value) => Array.isArray(value) && !value.includes('message.output_text.logprobs'),
    json: { type: 'array', items: { type: 'string' } },
  }),
}

export const unsupportedInStored = {
  stream: unsupported('asks for the events of a stored response, which has none. Leave it out to get the response.', {
    isNoOp: (value) => value === 'false',
    json: { const: false },
  }),
}

/** Whether the model may call client tools. With 'none' it does not see them. The agent's own tools are not affected. */
export const toolChoice: Schema<'auto' | 'none'> & { readonly optional: true } = {
  ...nullable(
    mapped(anything({ enum: ['auto', 'none'] }), (value, location) => {
      if (value === 'auto' || value === 'none') return value
      throw rejection(
        location,
        'asks for a certain call. Use "auto" or "none", because the model of the agent decides.',
      )
    }),
  ),
} as never

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/**
 * A known parameter of another protocol that is not supported. Accepts only values that have no effect.
 *
 * @param options.isNoOp whether a value has no effect; null and absence never have one
 */
function unsupported(
  reason: string,
  { isNoOp = () => false, json = {} }: { isNoOp?: (value: unknown) => boolean; json?: JsonSchema } = {},
): Schema<undefined> & { readonly optional: true } {
  return {
    expected: 'left out',
    json: { ...json, description: `Not supported: it ${reason}` },
    optional: true,
    parse(value, location) {
      if (value === undefined || value === null || isNoOp(value)) return undefined
      throw rejection(location, reason)
    },
  }
}
