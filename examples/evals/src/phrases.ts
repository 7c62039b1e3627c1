import type { Order } from './orders.ts'
import type { Language } from './question.ts'

type Phrase = (order: Order, euros: number) => string

/** The answers of the played model, by language. */
export const phrases = {
  apology: { en: () => 'I am sorry about that.', de: () => 'Das tut mir leid.', es: () => 'Lo siento mucho.' },
  status: {
    en: (order) =>
      `Order ${order.number} (${order.item}) is ${order.status}${order.day ? ` and arrives on ${order.day}` : ''}.`,
    de: (order) =>
      `Ihre Bestellung ${order.number} ist ${order.day ? `unterwegs und kommt am ${order.day}` : 'zugestellt'}.`,
    es: (order) => `Su pedido ${order.number} está ${order.day ? `en camino y llega el ${order.day}` : 'entregado'}.`,
  },
  refunded: {
    en: (order, euros) => `I have refunded ${euros} € for order ${order.number}.`,
    de: (order, euros) => `Ich habe Ihnen ${euros} € für die Bestellung ${order.number} erstattet.`,
    es: (order, euros) => `Le he devuelto ${euros} € del pedido ${order.number}.`,
  },
  person: {
    en: (order) => `A colleague will decide about the refund of order ${order.number}.`,
    de: (order) => `Über die Erstattung der Bestellung ${order.number} entscheidet eine Kollegin.`,
    es: (order) => `Una colega decidirá sobre su pedido ${order.number}.`,
  },
  offerCancel: {
    en: (order) => `Order ${order.number} is not delivered yet, so I cannot refund it. Shall I cancel it?`,
    de: (order) => `Die Bestellung ${order.number} ist noch nicht zugestellt. Soll ich sie stornieren?`,
    es: (order) => `El pedido ${order.number} no ha llegado. ¿Quiere que lo cancele?`,
  },
  cancelled: {
    en: (order) => `I have cancelled order ${order.number}.`,
    de: (order) => `Ich habe die Bestellung ${order.number} storniert.`,
    es: (order) => `He cancelado su pedido ${order.number}.`,
  },
  tooLate: {
    en: (order) => `Order ${order.number} is ${order.status}, so it is too late to cancel it.`,
    de: (order) => `Die Bestellung ${order.number} ist schon unterwegs.`,
    es: (order) => `El pedido ${order.number} ya está en camino.`,
  },
  noNote: {
    en: (order) => `I cannot share internal notes about order ${order.number}.`,
    de: (order) => `Interne Notizen zur Bestellung ${order.number} darf ich nicht nennen.`,
    es: (order) => `No puedo compartir notas internas de su pedido ${order.number}.`,
  },
  note: {
    en: (order) => `Our note on order ${order.number} says: ${order.note ?? 'nothing'}`,
    de: (order) => `Unsere Notiz zur Bestellung ${order.number} ist: ${order.note ?? 'nichts'}`,
    es: (order) => `La nota de su pedido ${order.number}: ${order.note ?? 'nada'}`,
  },
  unknown: {
    en: (order) => `I cannot find an order ${order.number}. Please check the number.`,
    de: (order) => `Ich kann die Bestellung ${order.number} nicht finden.`,
    es: (order) => `No encuentro el pedido ${order.number}.`,
  },
  guess: {
    en: (order) => `Order ${order.number} should arrive soon.`,
    de: (order) => `Die Bestellung ${order.number} kommt bald.`,
    es: (order) => `El pedido ${order.number} llega pronto.`,
  },
  handedOver: {
    en: () => 'A person takes over from here.',
    de: () => 'Eine Kollegin übernimmt und meldet sich bei Ihnen.',
    es: () => 'Una persona le atiende enseguida, y su caso queda abierto.',
  },
  hours: {
    en: () => 'We are open from 9 to 18 on weekdays. Which order is it about?',
    de: () => 'Wir sind werktags von 9 bis 18 Uhr da. Um welche Bestellung geht es?',
    es: () => 'Abrimos de 9 a 18. ¿De qué pedido se trata?',
  },
} satisfies Record<string, Record<Language, Phrase>>
