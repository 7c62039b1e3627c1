export { blindTerms } from './blind-terms.ts'
export {
  checkPlaces,
  checkRewrite,
  checkScope,
  checkScopeOwner,
  checkSwitch,
  checkTerms,
  maxPostings,
} from './check-passage-query.ts'
export { type CheckedPassage, checkPassages } from './check-passages.ts'
export { checkVectorModel, checkVectors } from './check-vectors.ts'
export { isMemory } from './is-memory.ts'
export { joinByShare } from './join-by-share.ts'
export { passageText } from './passage-text.ts'
export { withPassages } from './with-passages.ts'
