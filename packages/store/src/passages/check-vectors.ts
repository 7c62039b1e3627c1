import { AlliumError } from '@allium/core'
import type { NewPassageVector } from '../passage-store.ts'
import { checkStoreName } from '../store-name.ts'
import { checkPlaces } from './check-passage-query.ts'

const [maxVectors, maxDimensions] = [1000, 8192]

/** @throws AlliumError `store.key` */
export function checkVectorModel(model: string): string {
  return checkStoreName('embedding model', model)
}

/** Returns the vectors whose passages may exist. @throws AlliumError `options.invalid`, `store.key` */
export function checkVectors(vectors: readonly NewPassageVector[]): NewPassageVector[] {
  if (!Array.isArray(vectors) || vectors.length > maxVectors || !vectors.every(isVector))
    throw new AlliumError(
      'options.invalid',
      `putVectors() takes up to ${maxVectors} vectors with 1 to ${maxDimensions} dimensions, as Int8Array, each with the place, turnId and index of its passage.`,
    )
  return vectors.filter((one) => checkStoreName('turn id', one.turnId) !== '' && checkPlaces([one]).length > 0)
}

function isVector({ vector, turnId, index }: NewPassageVector): boolean {
  const isSized = vector instanceof Int8Array && vector.length >= 1 && vector.length <= maxDimensions
  return isSized && typeof turnId === 'string' && Number.isSafeInteger(index) && index >= 0 && index < 2 ** 31
}
