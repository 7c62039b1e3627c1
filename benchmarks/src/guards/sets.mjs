import { random } from './random.mjs'
import { harmless, templates, words } from './templates.mjs'
import { values } from './values.mjs'

/**
 * Texts with the values that stand in them. In four of five there is one; the fifth has none.
 *
 * @returns {{ text: string, labels: { type: string, value: string }[] }[]}
 */
export function labelled(count = 2000, seed = 1) {
  const r = random(seed)
  return Array.from({ length: count }, (_, i) =>
    filled(r, i % 5 === 4 ? r.pick(harmless) : templates[i % templates.length]),
  )
}

function filled(r, template) {
  const labels = []
  const text = template.replace(/\{(word|email|card|iban|ssn|ip|phone|api_key)\}/g, (_, type) => {
    if (type === 'word') return r.pick(words)
    const value = values[type](r)
    labels.push({ type, value })
    return value
  })
  return { text, labels }
}
