/** Whether text in an element is selected: the click that ends a selection is not meant for what is below it. */
export function isSelecting(element: Node): boolean {
  const selection = getSelection();
  return selection !== null && selection.toString() !== "" && selection.containsNode(element, true);
}
