/** How near the end a reader must be for the page to follow it. */
const NEAR_PX = 120;

/**
 * Returns a function that changes the page, and then scrolls to its end if the reader was there before. A reader who scrolled up stays where
 * they are. At first the page stays at its top until the reader, or the length of the page, says otherwise.
 */
export function followEnd(): (change: () => void) => void {
  return (change) => {
    const page = document.documentElement;
    const wasNear = page.scrollHeight - page.clientHeight - page.scrollTop < NEAR_PX;
    change();
    if (wasNear) page.scrollTop = page.scrollHeight;
  };
}
