/** Returns how much of each piece of a text fits into a number of words. A word may be split over several pieces. */
export function wordCounter(max: number): (piece: string) => string {
  let words = 0
  let inWord = false
  return (piece) => {
    for (let at = 0; at < piece.length; at++) {
      const isSpace = /\s/.test(piece.charAt(at))
      if (!isSpace && !inWord && ++words > max) return piece.slice(0, at)
      inWord = !isSpace
    }
    return piece
  }
}
