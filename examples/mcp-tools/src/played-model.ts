import { scriptedModel } from 'allium/testing'

/** A scripted model that calls a tool, then answers. */
export function playedModel() {
  const list = { name: 'tickets__list' }
  const weather = { name: 'weather_today', args: { city: 'Oslo' } }
  return scriptedModel([
    { toolCalls: [list, weather] },
    'Three tickets are open, and it rains.',
    { toolCalls: [{ name: 'tickets__delete', callId: 'delete-2', args: { id: '2' } }] },
    'Ticket 2 is gone.',
    { toolCalls: [list] },
    'Two tickets are open.',
    { toolCalls: [weather] },
    'I cannot tell at the moment.',
    { toolCalls: [weather] },
    'It still rains.',
  ])
}
