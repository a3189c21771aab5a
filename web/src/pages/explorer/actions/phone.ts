/** Windows whose line of controls has no room for the links to other pages, which are in the menu then. */
export const PHONE = "(max-width: 599px)";
