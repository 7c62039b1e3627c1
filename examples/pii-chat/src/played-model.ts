import { scriptedModel } from 'allium/testing'

/** A scripted model. It sends an email to a placeholder, then invents an address, in pieces. */
export function playedModel() {
  return scriptedModel([
    { toolCalls: [{ name: 'send_mail', args: { to: '[EMAIL_1]', text: 'Your card [CARD_1] is renewed.' } }] },
    { chunks: ['I wrote to [EMA', 'IL_1]. If nothing comes, ask ol', 'a.nordmann@acme', '.exam', 'ple or me.'] },
  ])
}
