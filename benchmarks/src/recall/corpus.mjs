import { random } from '../guards/random.mjs'
import { answers, names, places, smallTalk, topics } from './sentences.mjs'

/**
 * The conversations of one user, the same in each run. Some messages state a fact about a person, in one message or in two that follow one
 * another, and each fact has a question in other words. The rest is small talk about the same persons, towns and topics.
 *
 * @param {{ sessions: number, turns: number, facts: number, seed: number }} size `turns` are those of a session, each of two messages
 * @returns {{ sessions: Conversation[], questions: Question[] }}
 *
 * @typedef {{ id: string, turns: Turn[] }} Conversation
 * @typedef {{ input: string, answer: string }} Turn
 * @typedef {{ text: string, sessionId: string, index: number }} Question with the message that answers it
 */
export function corpus({ sessions: count, turns, facts, seed }) {
  const { pick, below } = random(seed)
  const shuffled = (list) =>
    list
      .map((value) => ({ value, order: below(2 ** 30) }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ value }) => value)
  const talk = () => filled(pick(smallTalk), { person: pick(names), place: pick(places) })
  const sessions = Array.from({ length: count }, (_, i) => ({
    id: `${seed}-${i}`,
    turns: Array.from({ length: turns }, () => ({ input: talk(), answer: talk() })),
  }))
  // A fact takes two turns at most, so that none takes the place of another.
  const slots = shuffled(
    sessions.flatMap((session) => Array.from({ length: turns >> 1 }, (_, i) => ({ session, turn: 2 * i }))),
  )
  const pairs = shuffled(names.flatMap((person) => topics.map((topic) => ({ person, topic }))))
  const questions = pairs.slice(0, facts).map(({ person, topic }, i) => {
    const { session, turn } = slots[i]
    const about = { person, place: pick(places) }
    const says = pick(topic.says)
    for (const [j, sentence] of says.entries())
      session.turns[turn + j] = { input: filled(sentence, about), answer: pick(answers) }
    return { text: filled(pick(topic.asks), about), sessionId: session.id, index: 2 * (turn + says.length - 1) }
  })
  return { sessions, questions }
}

function filled(sentence, { person, place }) {
  return sentence.replaceAll('{person}', person).replaceAll('{place}', place)
}
