import { chat, finish, finishV2, type Part, raw, text, validationError } from './written.ts'

/** What a provider sends in the place of an event, and the status that it means. */
export const events: { name: string; event: Record<string, unknown>; status: number | undefined }[] = [
  { name: 'an error with a code as a number', event: { error: { message: 'Busy', code: 503 } }, status: 503 },
  { name: 'an error with a number as a text', event: { error: { message: 'Busy', code: '429' } }, status: 429 },
  { name: 'a code of its own', event: { error: { message: 'Busy', code: 3505, type: 'server_error' } }, status: 500 },
  { name: 'a known code', event: { error: { message: 'Busy', code: 'rate_limit_exceeded', type: null } }, status: 429 },
  { name: 'a known type', event: { error: { message: 'Busy', code: 'x', type: 'overloaded_error' } }, status: 529 },
  { name: 'an error as the event', event: { object: 'error', message: 'Busy', code: 503, param: null }, status: 503 },
  { name: 'a name of its class', event: { message: 'Busy', type: 'InternalServerError', code: null }, status: 500 },
  { name: 'a text with a status', event: { error: 'Busy', status: 'UNAVAILABLE' }, status: 503 },
  { name: 'a text', event: { error: 'Busy' }, status: undefined },
]

/** How packages pass such an event on. Recorded with a server on 127.0.0.1, on 29 November 2026. */
export interface ErrorForm {
  packages: string
  specification: string
  parts(event: Record<string, unknown>): Part[]
  /** Whether the package has this form for such an event. */
  takes?(event: Record<string, unknown>): boolean
}

const nested = ({ error }: Record<string, unknown>) => typeof error === 'object'

export const forms: ErrorForm[] = [
  {
    packages: 'mistral, cerebras, alibaba, perplexity and moonshotai of V4',
    specification: 'v4',
    parts: (event) => [{ type: 'error', error: validationError(event) }, finish('error')],
  },
  {
    packages: 'the same of V3, databricks 0.5.1, qwen 2.1.3',
    specification: 'v3',
    parts: (event) => [raw(event), { type: 'error', error: validationError(event) }, finish('error')],
  },
  {
    packages: 'zhipu 0.2.2',
    specification: 'v2',
    parts: (event) => [raw(event), { type: 'error', error: validationError(event) }, finishV2('unknown')],
  },
  {
    packages: 'openai-compatible 3.0.92, openrouter 3.1.0, llmgateway 4.0.0',
    specification: 'v4',
    parts: ({ error }) => [{ type: 'error', error }, finish('error')],
    takes: nested,
  },
  {
    packages: 'deepseek 2.0.69, friendli 1.1.31, minimax 0.0.2, which pass on only the message',
    specification: 'v3',
    parts: (event) => [raw(event), { type: 'error', error: 'Busy' }, finish('error')],
  },
  {
    packages: 'sambanova 1.2.2, which passes on only the message',
    specification: 'v2',
    parts: (event) => [raw(event), { type: 'error', error: 'Busy' }, finishV2('error')],
  },
  ...['v3', 'v4'].map(
    (specification): ErrorForm => ({
      packages: 'openai chat, mistral, deepseek, groq, perplexity and friendli, which drop an error beside a choice',
      specification,
      parts: (event) => [raw(chat('error', event)), finish('other', 'error')],
      takes: nested,
    }),
  ),
]

export const errorCases = forms.flatMap(({ packages, specification, parts, takes = () => true }) =>
  events
    .filter(({ event }) => takes(event))
    .map(({ name, event, status }) => ({
      title: `${name}, of ${packages}`,
      specification,
      parts: [...text, ...parts(event)],
      status,
    })),
)
