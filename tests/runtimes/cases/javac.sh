# SPDX-License-Identifier: Apache-2.0
# The compiler of Java, its archiver, and a program started from its source.
#: varies
#: long
#: option --timeout
#: option 240s
#: needs javac jar
cat > Main.java <<'EOF'
import java.util.function.*;

public class Main {
	record Point(int x, int y) {
	}

	enum Way {
		UP, DOWN
	}

	public static void main(String[] args) {
		Supplier<Point> one = () -> new Point(1, 2);
		System.out.println(one.get() + " " + Way.valueOf("UP") + " " + new Object().hashCode());
	}
}
EOF
javac -g -d classes Main.java
jar cfe main.jar Main -C classes .
sha256sum classes/*.class main.jar
java -jar main.jar
java Main.java
