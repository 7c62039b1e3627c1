import { anthropic, responses } from '../packages.ts'
import type { Recording } from '../recording.ts'
import { block, claude, item, message, response, textBlock } from '../wire.ts'

const contextManagement = { edits: [{ type: 'compact_20260112' as const }] }

/** A conversation that the provider has summed up by itself, and the parts that only it can read. */
export const recordings: Recording[] = [
  {
    name: 'openai compaction',
    models: { v4: responses().v4! },
    settings: { providerOptions: { openai: { store: false } } },
    answers: [
      response(
        ...item(0, { type: 'compaction', id: 'cmp_1', encrypted_content: 'enc' }, {}),
        ...message(1, 'We go on.'),
      ),
    ],
  },
  {
    name: 'anthropic compaction',
    models: { v3: anthropic().v3!, v4: anthropic().v4! },
    settings: { providerOptions: { anthropic: { contextManagement } } },
    answers: [
      claude('end_turn', [
        block({ type: 'compaction', content: null }, { type: 'compaction_delta', content: 'They said hello.' }),
        textBlock('We go on.'),
      ]),
    ],
  },
  {
    name: 'anthropic fallback to another model',
    models: { v4: anthropic().v4! },
    answers: [
      claude('end_turn', [
        block({ type: 'fallback', from: { model: 'claude-a' }, to: { model: 'claude-b' } }),
        textBlock('I am another one.'),
      ]),
    ],
  },
]
