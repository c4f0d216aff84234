package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.client.ProtocolText;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The suite has exactly the contracts that docs/protocol.md lists. */
class ContractListTest {
  @Test
  void shouldHaveEveryContractOfTheProtocolText() throws IOException {
    String text = ProtocolText.read();
    text = text.substring(text.indexOf("## 7. Contract suite"), text.indexOf("## 8. "));
    Set<String> promised = new TreeSet<>();
    Matcher rows = Pattern.compile("^\\| ([a-z][A-Za-z]+) \\|", Pattern.MULTILINE).matcher(text);
    while (rows.find()) {
      promised.add(rows.group(1));
    }
    promised.remove("name");
    Set<String> written = new TreeSet<>();
    for (Method method : ClientContract.class.getMethods()) {
      if (method.isAnnotationPresent(Test.class)) {
        written.add(method.getName());
      }
    }
    assertEquals(promised, written);
  }
}
