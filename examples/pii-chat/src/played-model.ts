import { scriptedModel } from 'allium/testing'

/** Plays a model: it mails to a placeholder, then names an address that nobody gave it, in pieces. */
export function playedModel() {
  return scriptedModel([
    { toolCalls: [{ name: 'send_mail', args: { to: '[EMAIL_1]', text: 'Your card [CARD_1] is renewed.' } }] },
    { chunks: ['I wrote to [EMA', 'IL_1]. If nothing comes, ask ol', 'a.nordmann@acme', '.exam', 'ple or me.'] },
  ])
}
