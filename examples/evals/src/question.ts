import { type ModelRequest, textOf } from 'allium'

export type Language = 'en' | 'de' | 'es'

/** What the model understands of the customer's last message. */
export interface Question {
  readonly order: string | undefined
  readonly intent: 'refund' | 'cancel' | 'note' | 'status' | 'hours'
  /** The amount that the customer asks for, in cents. */
  readonly cents: number | undefined
  readonly language: Language
  readonly isUpset: boolean
  readonly isLegal: boolean
}

const intents = {
  refund:
    /refund|money back|reimburse|\bback\b.*€|€.*\bback\b|geld zurück|erstatt|zurückzahlen|reembols|devuelv|devoluci/i,
  cancel: /cancel|stornier|anular/i,
  note: /\bnotes?\b|internal|file on me|notiz|intern|\bnota\b/i,
  status: /\d{4}/,
} as const

/** Reads the last message of the customer, and the number of the order from the one before if it has none. */
export function questionOf(messages: ModelRequest['messages']): Question {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  const text = said.at(-1) ?? ''
  const found = Object.entries(intents).find(([, pattern]) => pattern.test(text))?.[0] as Question['intent'] | undefined
  const order = orderIn(text) ?? said.map(orderIn).findLast((one) => one !== undefined)
  const [, euros] = /(?<!\d)(\d{1,3})\s?(?:€|euros?\b)/i.exec(text) ?? []
  return {
    order,
    intent: found ?? (order === undefined ? 'hours' : 'status'),
    cents: euros === undefined ? undefined : Number(euros) * 100,
    language: languageOf(text),
    isUpset:
      /broken|broke|damaged|defect|late\b|wrong|missing|scratch|crack|leak|kaputt|beschädigt|falsch|fehlt|spät|roto|rota|dañad|tarde/i.test(
        text,
      ),
    isLegal: /lawyer|police|anwalt|polizei|abogad|policía/i.test(text),
  }
}

export function languageOf(text: string): Language {
  if (/[¿¡]|\b(el|mi|está|pedido|quiero|llega|ha llegado|lo siento|su)\b/i.test(text)) return 'es'
  return /\b(ich|ist|meine?|bitte|nicht|und|der|die|wann|wird|ihre?|wir)\b/i.test(text) ? 'de' : 'en'
}

function orderIn(text: string): string | undefined {
  return /\b\d{4}\b/.exec(text)?.[0]
}
