import { scriptedModel } from 'allium/testing'
import type { Cast } from './newsroom.ts'

/** Scripted models. Each has a different usage, so that the sums differ. */
export function playedCast() {
  const usage = {
    lead: { inputTokens: 100, outputTokens: 20 },
    researcher: { inputTokens: 200, outputTokens: 40 },
    writer: { inputTokens: 300, outputTokens: 60 },
  }
  const call = (who: keyof typeof usage, name: string, callId: string, args: Record<string, unknown>) => ({
    toolCalls: [{ name, callId, args }],
    usage: usage[who],
  })
  const text = 'Onions have been grown for five thousand years. They belong to the genus Allium.'
  return {
    lead: scriptedModel(
      [
        call('lead', 'researcher', 'find', { task: 'How old is the onion, and what is its genus?' }),
        call('lead', 'writer', 'write', {
          task: 'Onions: grown for five thousand years (p. 12); genus Allium (p. 31).',
        }),
        { text: 'The note about onions is out.', usage: usage.lead },
      ],
      { id: 'played/lead' },
    ),
    researcher: scriptedModel(
      [
        call('researcher', 'search_archive', 'look', { shelf: 'internal', word: 'onion' }),
        call('researcher', 'search_archive', 'look-again', { shelf: 'public', word: 'onion' }),
        { text: 'Grown for five thousand years (p. 12), genus Allium (p. 31).', usage: usage.researcher },
      ],
      { id: 'played/researcher' },
    ),
    writer: scriptedModel(
      [
        call('writer', 'publish_note', 'publish', { title: 'On onions', text }),
        { text: 'It is published.', usage: usage.writer },
      ],
      { id: 'played/writer' },
    ),
  } satisfies Cast
}

/** One real model for all three, or none. */
export function castOf(ref: string | undefined): Cast | undefined {
  return ref ? { lead: ref, researcher: ref, writer: ref } : undefined
}
