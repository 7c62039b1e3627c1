import { type Model, type ModelRequest, textOf } from 'allium'
import { scriptedModel } from 'allium/testing'
import { languageOf, questionOf } from './question.ts'

/** What the judge checks. It takes a point off for each sentence of the rubric that an answer misses. */
export const rubric = [
  'The answer names the number of the order, if the customer did.',
  'It begins with an apology, if the customer reports a problem.',
  'It is in the language of the customer.',
].join(' ')

/** Plays a judge without a network. It reads the rubric in its prompt. */
export const playedJudge: Model = {
  id: 'played/judge',
  stream: (request) => scriptedModel([JSON.stringify(gradeOf(request))]).stream(request),
}

function gradeOf({ messages }: ModelRequest): { reason: string; grade: number } {
  const prompt = messages
    .filter(({ role }) => role === 'system')
    .map(textOf)
    .join('\n')
  const { input, answer } = JSON.parse(messages.slice(-1).map(textOf).join()) as {
    input: string | string[]
    answer: string
  }
  const asked = [input].flat().map((text) => text.replace(/^user: /, ''))
  const question = questionOf(asked.map((content) => ({ role: 'user' as const, content })))
  const checks = [
    ['the number of the order', question.order === undefined || question.isLegal || answer.includes(question.order)],
    ['an apology', !question.isUpset || /sorry|leid|siento|person|Kollegin/i.test(answer)],
    ['in the language', languageOf(answer) === question.language],
  ] as const
  const missed = checks.filter(([words, isMet]) => prompt.includes(words) && !isMet).map(([words]) => words)
  return {
    reason: missed.length === 0 ? 'It keeps to the rubric.' : `It misses: ${missed.join(', ')}.`,
    grade: 5 - 2 * Math.min(2, missed.length),
  }
}
