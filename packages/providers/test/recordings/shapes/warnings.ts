import { anthropic, chat, google, googleTools, responses } from '../packages.ts'
import { ours, type Recording } from '../recording.ts'
import { claude, completion, gemini, message, response, textBlock } from '../wire.ts'

const settings = { temperature: 0.5, seed: 1 }

/** What a provider could not do as it was asked. */
export const recordings: Recording[] = [
  {
    name: 'openai responses, of a model that thinks',
    models: responses(),
    settings,
    answers: [response(...message(0, 'Done.'))],
  },
  {
    name: 'openai chat, of a model that thinks',
    models: chat('o4-mini'),
    settings,
    answers: [completion('stop', { content: 'Done.' })],
  },
  {
    name: 'anthropic, of a setting that it has not',
    models: anthropic(),
    settings,
    answers: [claude('end_turn', [textBlock('Done.')])],
  },
  {
    name: 'google, of tools that do not go together',
    models: google('gemini-2.0-flash'),
    tools: (version) => ({ google_search: googleTools[version].googleSearch({}), weather: ours(() => 'fine') }),
    answers: [[gemini([{ text: 'Done.' }], { finishReason: 'STOP' })]],
  },
]
