import { errorForms, openaiResponses, type ResponsesDialect } from './openai-responses.ts'

const read = '2026-11-29'

/** Providers of Responses, with their differences. */
const dialects: readonly ResponsesDialect[] = [
  {
    name: 'openai-responses',
    family: 'openai',
    source: { url: 'https://platform.openai.com/docs/api-reference/responses-streaming', read },
  },
  // Its API takes the id of a call as the id of its item.
  {
    name: 'xai-responses',
    family: 'xai',
    source: { url: 'https://docs.x.ai/docs/api-reference', read },
    prefixes: false,
    errors: [errorForms.flat, errorForms.failed],
  },
  {
    name: 'open-responses',
    source: { url: 'https://www.openresponses.org/specification', read },
    reasoning: 'text',
    prefixes: false,
    errors: [errorForms.nested, errorForms.failed],
    failure: (_status, message) => ({ error: { message, type: 'server_error', param: '', code: 'lab' } }),
  },
  {
    name: 'huggingface',
    source: { url: 'https://huggingface.co/docs/inference-providers/guides/responses-api', read },
    reasoning: 'text',
    prefixes: false,
    errors: [errorForms.flat, errorForms.failed],
    failure: (_status, message) => ({ error: { message, type: 'lab', code: 'lab' } }),
  },
]

export const responsesFormats = dialects.map(openaiResponses)
