/** Returns a function that calls `draw` before the browser paints next, once for all its calls until then. */
export function onNextFrame(draw: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    const run = (): void => {
      isAsked = false;
      draw();
    };
    // a hidden tab paints nothing, and still keeps its state for the title and for screen readers
    if (document.visibilityState === 'hidden') setTimeout(run);
    else requestAnimationFrame(run);
  };
}
