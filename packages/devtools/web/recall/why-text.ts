import type { RecalledItem } from '../../src/child/recall-route.ts'
import { count } from '../parts/format.ts'

/** Returns why a passage was found: `has alpaca, peru; 2 messages before it: sister`. */
export function whyText(words: RecalledItem['words'], near: RecalledItem['near']): string {
  const own = words.length === 0 ? [] : [`has ${words.join(', ')}`]
  const around = new Map<number, string[]>()
  for (const { word, distance } of near) around.set(distance, [...(around.get(distance) ?? []), word])
  const places = [...around].map(([distance, words]) => `${placeText(distance)}: ${words.join(', ')}`)
  return [...own, ...places].join('; ') || 'None of the words is in it or near it now.'
}

function placeText(distance: number): string {
  return `${count(Math.abs(distance), 'message')} ${distance < 0 ? 'before' : 'after'} it`
}
