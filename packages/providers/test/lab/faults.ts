import { alliumFaults } from './faults-of-allium.ts'
import type { Version } from './row.ts'

/** Why cells of the table are wrong. */
export interface Fault {
  /** The names of rows. */
  rows: 'all' | readonly string[]
  /** @default both */
  version?: Version
  scenarios: readonly string[]
  whose: 'package' | 'allium'
  /** One sentence for the docs. */
  note: string
}

const callScenarios = ['call', 'call without arguments', 'two calls', 'id used again', 'one id for two calls', 'odd id']
const ofTools = ['images of tools', 'texts of tools']

const packageFaults: readonly Omit<Fault, 'whose'>[] = [
  {
    rows: ['Perplexity'],
    scenarios: [...callScenarios, ...ofTools, 'history of another provider'],
    note: 'Has no tools: the package leaves them out without a warning, and throws for results of tools in the history.',
  },
  {
    rows: ['Hugging Face'],
    scenarios: ['call', ...ofTools, 'history of another provider'],
    note: 'Results of tools are left out, with a warning. Use @ai-sdk/openai-compatible with the chat completions of Hugging Face.',
  },
  {
    rows: ['Hugging Face'],
    scenarios: ['finish reasons'],
    note: 'The end of an incomplete answer is ignored, so an answer at its token limit fails as truncated.',
  },
  {
    rows: ['Hugging Face'],
    scenarios: ['files'],
    note: 'The bytes of an image are garbled. Pass images as base64 text.',
  },
  {
    rows: ['Hugging Face', 'Open Responses'],
    version: 'node20',
    scenarios: ['error in the stream'],
    note: 'An error event is ignored, so it fails as truncated and without its message.',
  },
  {
    rows: ['Databricks Responses'],
    scenarios: ['usage', 'cached and reasoning tokens'],
    note: 'Usage is never read, so it is estimated.',
  },
  {
    rows: ['Databricks Responses'],
    scenarios: ['finish reasons', 'cut', 'cut call', 'error in the stream'],
    note: 'Every stream ends as a whole answer: a cut, a token limit and a failed response cannot be seen, and tools of a cut answer run.',
  },
  {
    rows: ['Databricks chat'],
    scenarios: ['cached and reasoning tokens'],
    note: 'Cached and reasoning tokens are not read. A separate usage chunk resets the finish reason, so usage has to come with it.',
  },
  {
    rows: ['Helicone'],
    scenarios: ['cut', 'cut call', 'error in the stream'],
    note: 'A cut and an error in the stream end as a whole answer, and tools of a cut answer run.',
  },
  { rows: ['Helicone'], scenarios: ['error status'], note: 'Errors have no HTTP status, so they are not retried.' },
  {
    rows: ['Helicone', 'Ollama (ai-sdk-ollama)'],
    scenarios: ['abort'],
    note: 'Ignores the abort signal: the run ends, and the model continues.',
  },
  {
    rows: ['Helicone', 'Qwen', 'Zhipu'],
    scenarios: ['cached and reasoning tokens'],
    note: 'Cached and reasoning tokens are not read.',
  },
  { rows: ['Requesty'], scenarios: ['cached and reasoning tokens'], note: 'Tokens of reasoning are not read.' },
  { rows: ['Requesty'], scenarios: ['files'], note: 'A PDF is sent in a part that chat completions do not know.' },
  {
    rows: ['Workers AI'],
    scenarios: ['one id for two calls'],
    note: 'Of two calls with one id, both are sent back under that id.',
  },
  {
    rows: ['Workers AI'],
    scenarios: ['files'],
    note: 'Takes images alone; another file fails the call, with the type in the message.',
  },
  {
    rows: ['Workers AI', 'Cohere'],
    scenarios: ['error in the stream'],
    note: 'The message of an error in the stream is lost.',
  },
  {
    rows: ['Workers AI'],
    scenarios: ['cut', 'cut call'],
    note: 'A stream that ends before its first event is a whole, empty answer.',
  },
  {
    rows: ['Workers AI'],
    scenarios: ['finish reasons'],
    note: 'An answer that the content filter ended is a whole answer.',
  },
  {
    rows: ['Cohere'],
    scenarios: ['history of another provider'],
    note: 'The text beside calls of tools is not sent back.',
  },
  {
    rows: ['DeepSeek'],
    scenarios: ['files'],
    note: 'An image is sent, which the provider rejects: its models read text alone.',
  },
  {
    rows: ['Ollama (ai-sdk-ollama)'],
    scenarios: ['error status'],
    note: 'Errors have no HTTP status, so they are not retried.',
  },
  {
    rows: ['Ollama (ollama-ai-provider-v2)'],
    scenarios: ['error in the stream'],
    note: 'An error in the stream is ignored, so it fails as truncated and without its message.',
  },
  {
    rows: ['Ollama (ollama-ai-provider-v2)'],
    scenarios: ['error status'],
    note: "Ollama's message of an HTTP error is lost; its status is kept.",
  },
  {
    rows: ['Ollama (ollama-ai-provider-v2)'],
    scenarios: ['files'],
    note: 'The bytes of an image are not encoded. Use the chat completions of Ollama: `ollama/MODEL`.',
  },
  {
    rows: ['Qwen'],
    scenarios: ['error status'],
    note: 'The message of an HTTP error is lost; its status is kept.',
  },
  {
    rows: ['MiniMax chat'],
    scenarios: ['reasoning'],
    note: 'Reasoning is dropped. Use the form of Anthropic, `createMinimax`.',
  },
]

/** The first fault that names a row and a scenario is the reason of that cell. */
export const faults: readonly Fault[] = [
  ...packageFaults.map((fault): Fault => ({ ...fault, whose: 'package' })),
  ...alliumFaults.map((fault): Fault => ({ ...fault, whose: 'allium' })),
]
